"""``python -m reelscore``: the command line, where the command itself is not on the path."""

from reelscore.cli.main import main

if __name__ == "__main__":
    main()
