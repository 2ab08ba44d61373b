"""Pages and the programming interface of challenges; what they show comes from its views."""
