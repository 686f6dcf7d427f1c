"""A DataFrame's rows into data files: distribution, order, and the tasks that write."""
