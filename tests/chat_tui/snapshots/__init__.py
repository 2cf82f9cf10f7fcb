"""Pictures of screens, compared with those kept beside the tests."""
