"""`python -m facula.as_torch [-m module | -c code | program.py] args`: as `python`, on Facula."""

from facula.as_torch.launch import main

if __name__ == "__main__":
    main()
