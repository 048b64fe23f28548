"""The papers' networks: parameters, outputs and gradients."""

from widenet.networks.initialise import Initialisation
from widenet.networks.names import network_by_name

__all__ = ["Initialisation", "network_by_name"]
