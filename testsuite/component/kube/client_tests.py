# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests: one connection, cap, deadlines, Retry-After, limits, tokens."""
import os
import time

from bed import wait_for
from h2_server import H2Server
from registry import contains, equal, test

REQUESTS = 9


@test
def many_requests_share_one_connection_and_keep_the_cap(bed):
	probe = bed.probe()
	answer = probe('get', count=600, path='/api/v1/namespaces/default')
	equal((answer['good'], answer['most_in_flight']), (600, 32))
	wait_for('one connection', lambda: probe.connections() == 1)
	narrow = bed.probe(bed.direct, '3')
	answer = narrow('get', count=60)
	equal((answer['good'], answer['most_in_flight']), (60, 3))


@test
def what_can_wait_lets_the_rest_pass(bed):
	probe = bed.probe()
	patient = probe.send('get', count=600, path='/api/v1/namespaces/default', can_wait=True)
	urgent = probe('get', count=60, path='/api/v1/namespaces/default')
	assert urgent['queued'] > 400, f"{urgent['queued']} of 600 patient requests were left when the urgent ones were done"
	equal((urgent['good'], probe.result(patient)['good']), (60, 600))
	equal(probe('get', count=60, can_wait=True)['most_in_flight'], 4)


def all_but_one_wait(bed, sizes, others_move):
	"""Of some requests on one connection each in turn gets a long answer while the others wait: it comes through. others_move: what else is asked meanwhile is answered."""
	server = H2Server(bed.plane, bed.port_of_h2)
	try:
		probe = bed.probe(bed.plane.kubeconfig('h2.yaml', bed.admin, port=server.port))
		for chosen in range(REQUESTS):
			asked = [probe.send('get', deadline_ms=60_000) for _ in range(REQUESTS)]
			wait_for('requests', lambda: len(server.streams) >= REQUESTS)
			streams = server.take()
			server.answer(streams.pop(chosen), *sizes)

			def long_answer(one=asked[chosen]):
				return probe.result(one, 2)
			equal((server.answer_others_meanwhile(long_answer) if others_move else long_answer())['good'], 1)
			for stream in streams + server.take():
				server.answer(stream, 2)
			equal([probe.result(one)['good'] for one in asked], [1] * REQUESTS)
	finally:
		server.close()


@test
def an_answer_whose_rest_libcurl_keeps_is_asked_for(bed):
	"""libcurl 7.88 leaves the rest of what it has read for one transfer aside until its socket is readable again; here that is never."""
	all_but_one_wait(bed, (16000, 16000, 500), others_move=False)


@test
def an_answer_whose_end_libcurl_keeps_is_asked_for(bed):
	"""It pauses in the frame that ends the answer and sees that end when the next frame comes, whosever that is; here none comes unasked."""
	all_but_one_wait(bed, (16000, 5000), others_move=True)


@test
def rights_are_asked_for(bed):
	rights = bed.probe(bed.plane.path('agent.kubeconfig'))('check')['rights']
	equal(sorted(verb for verb, allowed in rights.items() if not allowed), [])
	equal('create pods/binding' in rights and 'create events.events.k8s.io' in rights, True)
	rights = bed.probe(bed.plane.path('alice.kubeconfig'))('check')['rights']
	equal((rights['list pods'], rights['create pods/binding'], rights['list nodes']), (True, False, False))


@test
def retry_after_holds_all_requests_back(bed):
	probe = bed.probe(bed.proxied)
	bed.proxy.rule('answer', '/version', argument='HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
	start = time.monotonic()
	first = probe.send('get')
	wait_for('throttling', lambda: probe('counters')['throttled'] == 1)
	second = probe('get', path='/api/v1/namespaces')
	took = time.monotonic() - start
	equal((probe.result(first)['good'], second['good']), (1, 1))
	assert took > 0.95, f'took {took} s'
	equal(probe('counters')['repeats'], 1)


@test
def a_throttled_request_is_not_repeated_for_ever(bed):
	probe = bed.probe(bed.proxied)
	bed.proxy.rule('answer', '/version', count=99,
		argument='HTTP/1.1 503 Unavailable\r\nRetry-After: 0\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
	equal(probe('get')['code'], 'again')
	equal(probe('counters')['requests'], 5)


@test
def a_silent_server_costs_the_deadline_and_the_connection(bed):
	probe = bed.probe(bed.proxied)
	bed.proxy.rule('hang', '/version')
	start = time.monotonic()
	answer = probe('get', deadline_ms=400)
	equal(answer['code'], 'io')
	assert time.monotonic() - start < 4.5  # the deadline of requests that say nothing of one is 5 s
	equal(probe('get')['good'], 1)
	counters = probe('counters')
	equal((counters['timeouts'], counters['reconnects'], counters['failures']), (1, 1, 1))


@test
def what_flies_on_a_given_up_connection_flies_again(bed):
	probe = bed.probe(bed.proxied)
	# From version 8 on the second one waits for the first one's connection and is never sent
	is_sent = probe('counters')['libcurl'] < 0x080000
	bed.proxy.rule('hang', '/version', count=2 if is_sent else 1)
	late = probe.send('get', deadline_ms=20_000)
	equal(probe('get', deadline_ms=400)['code'], 'io' if is_sent else 'again')
	equal(probe.result(late, 15)['good'], 1)


@test
def a_request_that_waits_for_a_connection_has_its_deadline_too(bed):
	probe = bed.probe(bed.proxied)
	bed.proxy.rule('hang', '/version', count=3)
	probe.send('get', deadline_ms=20_000)
	began = time.time()
	assert probe('get', deadline_ms=400)['code'] in ('io', 'again')
	assert time.time() - began < 15


@test
def a_broken_connection_costs_one_repeat(bed):
	probe = bed.probe(bed.proxied)
	bed.proxy.rule('lose', '/version', count=1)
	equal(probe('get')['good'], 1)
	equal(probe('counters')['repeats'], 1)
	bed.proxy.rule('lose', '/version', count=2)
	equal(probe('get')['code'], 'io')


@test
def a_refusal_counts_even_if_its_text_is_cut_off(bed):
	# As with 401: the API server closes the connection when it does not know who asks.
	probe = bed.probe(bed.proxied)
	bed.proxy.rule('answer', '/version', argument='HTTP/1.1 403 Forbidden\r\nContent-Length: 500\r\nConnection: close\r\n\r\n{')
	answer = probe('get')
	equal((answer['code'], answer['what']), ('denied', 'HTTP status 403'))


@test
def answers_and_lines_have_limits(bed):
	probe = bed.probe()
	answer = probe('get', path='/openapi/v2', body_limit=100_000)
	equal((answer['good'], answer['code']), (0, 'too_large'))
	equal(probe('stream', path='/api/v1/namespaces?watch=1', limit=100)['code'], 'too_large')
	equal(probe('get')['good'], 1)


@test
def streams_that_begin_together_need_no_http_2(bed):
	"""The first one's connection turns out to be of HTTP/1.1: the others do not wait for it to end."""
	for _ in range(5):
		probe = bed.probe(bed.proxied)
		for _ in range(6):
			probe.send('stream', path='/api/v1/namespaces?watch=1', limit=1 << 20)
		wait_for('a connection for each', lambda p=probe: p.connections() == 6, 10)


@test
def nobody_listening_means_again(bed):
	file = bed.plane.kubeconfig('nobody.yaml', bed.admin, port=bed.plane.port + 8)
	equal(bed.probe(file)('get')['code'], 'again')


@test
def a_token_file_is_read_again_after_a_401(bed):
	good = bed.plane.read('tokens/admin')
	bed.plane.write('token', good)
	probe = bed.probe(bed.plane.kubeconfig('tokenfile.yaml', 'tokenFile: token\n    token: ignored'))
	equal(probe('get', path='/api/v1/nodes')['good'], 1)
	tokens = bed.plane.read('tokens.csv')
	bed.plane.write('token', 'revoked')
	equal(probe('get', path='/api/v1/nodes')['good'], 1)  # not yet read
	probe = bed.probe(bed.plane.path('tokenfile.yaml'))
	answer = probe('get', path='/api/v1/nodes')
	equal((answer['good'], answer['code']), (0, 'denied'))
	bed.plane.write('token', good + '\n')
	answer = probe('get', path='/api/v1/nodes', count=20)
	equal(answer['good'], 20)
	counters = probe('counters')
	assert 1 <= counters['repeats'] <= 20, counters
	os.unlink(bed.plane.path('token'))
	equal(probe('get', path='/api/v1/nodes')['good'], 1)
	contains(tokens, good)


@test
def the_expiry_of_a_service_account_token_is_known(bed):
	status, answer = bed.api('POST', '/api/v1/namespaces/slurm-kube/serviceaccounts/slurmkubed/token',
		{'apiVersion': 'authentication.k8s.io/v1', 'kind': 'TokenRequest', 'spec': {'expirationSeconds': 600}})
	equal(status, 201)
	bed.plane.write('jwt', answer['status']['token'])
	probe = bed.probe(bed.plane.kubeconfig('jwt.yaml', 'tokenFile: jwt'))
	equal(probe('get', path='/api/v1/pods')['good'], 1)
	assert abs(probe('counters')['token_expires'] - time.time() - 600) < 60
