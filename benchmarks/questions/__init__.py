"""Questions, one file each: the first line says it, `main` answers it by `report`, SOURCES are what it speaks of."""
