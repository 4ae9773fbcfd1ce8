"""Questions, one file each: the first line says it, `main` answers it by `report`.

SOURCES are the library's files that the answer speaks of; all of them where a question names none.
"""
