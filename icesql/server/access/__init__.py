"""Who may do what: principals and their privileges, how they show who they are, and where tables may lie."""
