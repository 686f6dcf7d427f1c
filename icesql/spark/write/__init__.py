"""A DataFrame's rows into data files: distribution, order, transforms, and the tasks that write."""
