"""What the tests of the array API share: samples of arguments and the comparison of results."""
