from reelscore.ray.datasets import score as score
