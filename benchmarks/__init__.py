"""Benchmarks beside the peers: each prints times and ratios of one run. ``./dev bench`` lists them."""
