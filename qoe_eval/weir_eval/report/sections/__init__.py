"""The sections of a page of results: the plain data that each template in `report/page/` lays out."""
