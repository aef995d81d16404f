"""Clusters from distances or similarities between some nodes: medoids, the gap statistic, affinity propagation."""
