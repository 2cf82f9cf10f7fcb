"""Finding peers on the local network: interfaces and mDNS."""
