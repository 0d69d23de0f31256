"""`Gym` of OpenNetLab's package."""

from weir.trainer.gym.opennetlab import Gym as Gym
