"""The networks, one file each, and what all of them share. Read ``qrn`` first."""
