"""Speed and quality as ratios measured in one run: `make bench`."""
