"""What the ResNet learns and no kernel does, on the class (7.1) of `resnet-beyond-kernels`."""
