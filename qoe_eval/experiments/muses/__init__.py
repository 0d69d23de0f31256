"""`weir experiment muses`: what Muses' paper measured (Zhong et al., INFOCOM 2022), in replays."""
