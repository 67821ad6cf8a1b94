# unit tests of agent
