"""Monster Hunt: a stag hunt on a grid."""
