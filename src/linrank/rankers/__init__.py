"""The scikit-learn face: parameters and attributes, nothing numerical."""
