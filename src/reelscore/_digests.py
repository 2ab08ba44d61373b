"""BLAKE2b alone: `hashlib` would load OpenSSL as well, at the start of every command."""

try:
    from _blake2 import blake2b as blake2b
except ImportError:  # Pythons that keep it elsewhere
    from hashlib import blake2b as blake2b
