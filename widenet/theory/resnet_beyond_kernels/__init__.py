"""Theorems of `resnet-beyond-kernels`: what the ResNet learns, and kernels fixed before the labels do not."""
