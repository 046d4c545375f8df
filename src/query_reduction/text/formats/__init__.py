"""The file formats that stories and dialogs are read from."""
