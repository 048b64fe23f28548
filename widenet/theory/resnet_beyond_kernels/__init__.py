"""Theorems of `resnet-beyond-kernels`: what the ResNet learns, and what no kernel can."""
