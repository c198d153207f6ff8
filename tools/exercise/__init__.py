"""Exercises of the pages whose answer is a number that a command gives: ./lab exercise asks and checks them."""
