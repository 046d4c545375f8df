"""Speed and memory, side by side in one run: ratios with their spread, never numbers from different days."""
