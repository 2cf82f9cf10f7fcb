"""SDS, rule by rule: send, receive, deliver, and what a restart brings back."""

import random

import pytest

from tests.channels import (
    CHANNEL,
)
