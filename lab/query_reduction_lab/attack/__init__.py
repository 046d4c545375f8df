"""Kills, broken disks, fuzzing, sanitizers, load under attack."""
