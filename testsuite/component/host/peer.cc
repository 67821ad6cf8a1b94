/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "testsuite/component/host/peer.h"

#include "src/codec/frames.h"
#include "src/codec/link.h"

#include <chrono>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace slurmkube::host
{

namespace
{

bool is_readable(int fd, int ms)
{
	pollfd watched{fd, POLLIN, 0};
	return poll(&watched, 1, ms) > 0;
}

void say(int fd, const std::string &text)
{
	(void)send(fd, text.data(), text.size(), MSG_NOSIGNAL); /* the peer may be gone */
}

} // namespace

Peer::Peer(std::string path)
    : path_(std::move(path)), listener_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0))
{
	sockaddr_un address = {};
	address.sun_family = AF_UNIX;
	path_.copy(address.sun_path, sizeof(address.sun_path) - 1);
	(void)unlink(path_.c_str());
	if (bind(listener_.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) !=
			0 ||
		listen(listener_.get(), 8) != 0)
		fault_ = "cannot listen";
	thread_ = std::thread([this] { run(); });
}

Peer::~Peer()
{
	stop_ = true;
	thread_.join();
	(void)unlink(path_.c_str());
}

std::map<std::uint32_t, core::JobState> Peer::jobs() const
{
	const std::lock_guard lock(mutex_);
	return jobs_;
}

std::string Peer::unmarked() const
{
	const std::lock_guard lock(mutex_);
	return unmarked_;
}

std::string Peer::fault() const
{
	const std::lock_guard lock(mutex_);
	return fault_;
}

void Peer::run()
{
	for (unsigned turn = 0; !stop_; turn++) {
		if (!is_readable(listener_.get(), 50))
			continue;
		const UniqueFd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
		const Manner manner =
			manner_ == Manner::coming ? static_cast<Manner>(turn % 4) : manner_.load();
		connections_++;
		serve(fd.get(), manner);
	}
}

/* Serves one connection until the plugin closes it, or the manner ends it. */
void Peer::serve(int fd, Manner manner)
{
	codec::FrameReader lines(codec::k_link_line_max);
	const Manner general = manner_;
	if (manner == Manner::deaf)
		std::this_thread::sleep_for(std::chrono::milliseconds(700));
	say(fd,
		manner == Manner::rude
			? "{\"type\":7}\n"
			: codec::encode_welcome({.protocol = 1, .agent_version = "stub"}) + "\n");
	seq_ = 0;
	char bytes[65536];
	for (unsigned rounds = 0; !stop_ && manner_ == general; rounds++) {
		if (!is_readable(fd, 50))
			continue;
		const ssize_t got = read(fd, bytes, sizeof(bytes));
		if (got <= 0 || (manner == Manner::hasty && rounds > 0))
			return;
		lines.add({bytes, static_cast<std::size_t>(got)});
		while (auto line = lines.next())
			if (!take(std::string(*line)))
				return;
		if (manner_ == Manner::coming && rounds > 40)
			return;
	}
}

bool Peer::take(const std::string &line)
{
	const auto decoded = codec::decode_link(line);
	const std::lock_guard lock(mutex_);
	lines_++;
	if (!decoded || decoded->seq != seq_ + 1) {
		fault_ = decoded ? "a number is missing" : decoded.error().what + ": " + line;
		return false;
	}
	seq_ = decoded->seq;
	if (std::holds_alternative<codec::SnapshotBegin>(decoded->message))
		jobs_.clear();
	if (const auto *job = std::get_if<core::SlurmJob>(&decoded->message))
		jobs_[job->id.number] = job->state;
	if (const auto *gone = std::get_if<codec::JobGone>(&decoded->message))
		jobs_.erase(gone->id.number);
	if (const auto *stats = std::get_if<core::PluginStats>(&decoded->message))
		unmarked_ = stats->unmarked;
	return true;
}

} // namespace slurmkube::host
