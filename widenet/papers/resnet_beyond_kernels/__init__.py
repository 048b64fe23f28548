"""Figures of `resnet-beyond-kernels`: what a ResNet learns and kernels do not."""
