"""MOCC (EuroSys 2022): one policy for many objectives, and its adaptation to a new one."""
