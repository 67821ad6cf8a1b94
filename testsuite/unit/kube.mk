# unit tests of kube
