"""The report of a run as one page for a browser: a file of its own, without network or a server."""
