"""The kitchen through cameras: MuJoCo scenes with robot meshes (extra `robots`)."""
