"""The ResNet beside kernels fixed before the labels, on the class (7.1) of `resnet-beyond-kernels`."""
