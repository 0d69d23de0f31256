"""OpenNetLab's package by its name, on Weir's simulator."""

from alphartc_gym.gym import Gym as Gym
