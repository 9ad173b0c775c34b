"""This file marks the store on PostgreSQL."""
