"""Muses (INFOCOM 2022): one small tree for each kind of path, extracted from a teacher."""
