"""
Recorded runs from files, and into them: one module per format, one line here.

A format's module has `recognises(first)`, which looks at the first JSON value of the file, and
`records(lines, source)`, which turns the file into the records of `argentum.ingest.interchange`.
"""

from argentum.ingest.files import Imported, check_files, import_file
from argentum.ingest.interchange import exported

__all__ = ["Imported", "check_files", "exported", "import_file"]
