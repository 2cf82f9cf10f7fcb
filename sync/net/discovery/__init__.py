"""Finding peers on the local network: network interfaces and mDNS."""
