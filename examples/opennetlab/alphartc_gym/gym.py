"""`Gym` of OpenNetLab's package."""

from weir_train.gym.opennetlab import Gym as Gym
