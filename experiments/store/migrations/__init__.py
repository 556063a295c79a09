"""How the tables of a store came to be what they are: one revision after the other, run by Alembic."""
