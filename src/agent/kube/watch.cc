/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/kube/watch.h"

#include "src/base/log.h"
#include "src/codec/list_page.h"
#include "src/codec/wire.h"

#include <algorithm>
#include <utility>

namespace slurmkube::kube
{

namespace
{

using namespace std::chrono_literals;
using codec::get;
using codec::get_string;

constexpr std::chrono::milliseconds k_list_deadline{60'000};
constexpr std::size_t k_largest_frame = std::size_t{8} << 20;
constexpr std::size_t k_largest_list = std::size_t{256} << 20; /* a list without pages */
/* After this many failures in a row, a server that is behind our version has lost it, for example
 * because it was restored from a backup. */
constexpr unsigned k_patience_with_lag = 5;
/* Servers send a bookmark every minute. If this many streams in a row bring nothing at all, they
 * start from a version that does not exist yet. */
constexpr unsigned k_mute_streams = 2;
/* upper limit for a Retry-After */
constexpr std::chrono::milliseconds k_longest_watch_pause{30'000};

std::string version_of(json_object *object)
{
	return get_string(get(object, "metadata"), "resourceVersion");
}

/* Versions are numbers that grow along a stream. If a server uses other texts, their order is not
 * checked. */
bool is_older(const std::string &version, const std::string &than)
{
	const auto is_number = [](const std::string &text) {
		return text.find_first_not_of("0123456789") == std::string::npos;
	};
	if (!is_number(version) || !is_number(than) || version.size() > than.size())
		return false;
	return version.size() < than.size() || version < than;
}

bool is_expired(json_object *status)
{
	const std::string reason = get_string(status, "reason");
	return codec::get_int(status, "code") == 410 || reason == "Expired" || reason == "Gone";
}

} // namespace

Watch::Watch(Client &client, WatchOptions options, WatchSink &sink)
    : client_(client), options_(std::move(options)), sink_(sink), random_(std::random_device{}())
{
	proceed_after(0ms);
}

Watch::~Watch()
{
	client_.loop().cancel(timer_);
	client_.close_stream(stream_);
}

void Watch::list_again()
{
	client_.close_stream(std::exchange(stream_, 0));
	alive_ = std::make_shared<int>(0);
	version_.clear();
	continue_.clear();
	live_uids_.clear();
	unpaged_ = false;
	proceed_after(0ms);
}

void Watch::proceed_after(std::chrono::milliseconds delay)
{
	client_.loop().cancel(timer_);
	timer_ = client_.loop().after(delay, [this] {
		timer_ = 0;
		proceed();
	});
}

void Watch::proceed()
{
	if (version_.empty())
		list_page();
	else
		open_stream();
}

std::string Watch::selectors() const
{
	std::string query;
	if (!options_.field_selector.empty())
		query += "&fieldSelector=" + escape_query(options_.field_selector);
	if (!options_.label_selector.empty())
		query += "&labelSelector=" + escape_query(options_.label_selector);
	return query;
}

/* not_before: the server's Retry-After, which applies if it is longer than the back-off. */
void Watch::failed(const std::string &why, std::chrono::milliseconds not_before)
{
	counters_.errors++;
	if (trouble_.empty())
		log_warning(
			"watch interrupted: path=%s error=%s", options_.path.c_str(), why.c_str());
	trouble_ = why;
	proceed_after(std::max(options_.backoff.next(random()), not_before));
}

void Watch::went_well()
{
	if (!trouble_.empty())
		log_info("watch works again: path=%s", options_.path.c_str());
	trouble_.clear();
}

/* ---- list ---- */

void Watch::list_page()
{
	Request request;
	request.path = options_.path + "?" +
		(unpaged_ ? "" : "limit=" + std::to_string(options_.page_size));
	if (!continue_.empty())
		request.path += "&continue=" + escape_query(continue_);
	request.path += selectors();
	request.accept = options_.accept;
	request.deadline = k_list_deadline;
	request.body_limit = k_largest_list;
	request.any_status = true;
	client_.send(std::move(request),
		[this, alive = std::weak_ptr<int>(alive_)](const Result<Response> &answer) {
			if (!alive.expired())
				page_arrived(answer);
		});
}

void Watch::page_arrived(const Result<Response> &answer)
{
	if (!answer) {
		failed(answer.error().what);
		return;
	}
	if (answer->status != 200) {
		refused(*answer);
		return;
	}
	const std::string this_page = std::exchange(continue_, codec::next_page_of(answer->body));
	const bool is_next_asked = !continue_.empty();
	if (is_next_asked)
		list_page(); /* the server works on it while we read this page */
	const auto list = codec::object_from_wire(answer->body, k_largest_list);
	if (!list || version_of(list->get()).empty()) {
		alive_ = std::make_shared<int>(0);
		continue_ = this_page;
		failed("the answer is not a list");
		return;
	}
	options_.backoff.reset();
	went_well();
	take_page(list->get(), is_next_asked);
}

void Watch::take_page(json_object *list, bool is_next_asked)
{
	counters_.pages++;
	json_object *items = get(list, "items");
	for (std::size_t i = 0; i < codec::array_size(items); i++) {
		json_object *item = codec::array_at(items, i);
		live_uids_.insert(get_string(get(item, "metadata"), "uid"));
		sink_.upserted(item);
	}
	if (is_next_asked)
		return;
	continue_ = get_string(get(list, "metadata"), "continue");
	if (continue_.empty())
		list_complete(version_of(list));
	else
		list_page();
}

void Watch::list_complete(std::string version)
{
	version_ = std::move(version);
	unpaged_ = false;
	mute_streams_ = 0;
	synced_ = true;
	counters_.lists++;
	sink_.listed(live_uids_);
	live_uids_.clear();
	open_stream();
}

/* ---- watch ---- */

void Watch::open_stream()
{
	const auto spread = static_cast<std::uint32_t>(
		(options_.longest_timeout - options_.least_timeout).count());
	const auto timeout = options_.least_timeout + std::chrono::seconds(random() % (spread + 1));
	StreamRequest request;
	request.path = options_.path +
		"?watch=1&allowWatchBookmarks=true&resourceVersion=" + escape_query(version_) +
		"&timeoutSeconds=" + std::to_string(timeout.count()) + selectors();
	request.accept = options_.accept;
	request.frame_limit = k_largest_frame;
	request.silence = options_.silence;
	request.fresh_connection = distrust_;
	request.on_open = [this] { went_well(); };
	heard_ = distrust_ = false;
	counters_.streams++;
	stream_ = client_.open_stream(
		std::move(request), [this](std::string_view frame) { frame_arrived(frame); },
		[this](const Result<Response> &end) { stream_ended(end); });
}

void Watch::frame_arrived(std::string_view frame)
{
	const auto event = codec::event_from_wire(frame, k_largest_frame);
	if (event) {
		heard_ = true;
		mute_streams_ = 0;
		take_event(event->get());
		return;
	}
	client_.close_stream(stream_);
	failed("an event is " + event.error().what);
}

void Watch::take_event(json_object *event)
{
	const std::string type = get_string(event, "type");
	json_object *object = get(event, "object");
	if (type == "ERROR") {
		take_error(object);
		return;
	}
	const std::string version = version_of(object);
	if (is_older(version, version_)) {
		client_.close_stream(stream_);
		/* if both are about the same object, the older state would replace the newer one */
		expired("an event came after a later one");
		return;
	}
	if (!version.empty())
		version_ = version;
	options_.backoff.reset();
	if (type == "BOOKMARK") {
		counters_.bookmarks++;
		return;
	}
	counters_.events++;
	if (type == "DELETED")
		sink_.deleted(object);
	else
		sink_.upserted(object);
}

void Watch::take_error(json_object *status)
{
	client_.close_stream(stream_);
	const std::string why = get_string(status, "message", "error without a message");
	if (is_expired(status))
		expired(why);
	else
		failed(why);
}

void Watch::stream_ended(const Result<Response> &end)
{
	stream_ = 0;
	if (!end && end.error().code == Errc::again)
		fell_silent(end.error().what);
	else if (!end)
		failed(end.error().what);
	else if (end->status == 200)
		ended_cleanly();
	else
		refused(*end);
}

void Watch::ended_cleanly()
{
	if (heard_) {
		open_stream();
		return;
	}
	if (++mute_streams_ >= k_mute_streams)
		version_.clear();
	proceed_after(options_.backoff.next(random()));
}

void Watch::fell_silent(const std::string &why)
{
	counters_.silences++;
	distrust_ = true;
	if (!heard_ && ++mute_streams_ >= k_mute_streams)
		version_.clear();
	failed(why);
}

/* For an HTTP status other than 200, of a page or of a stream. */
void Watch::refused(const Response &answer)
{
	if (answer.status == 404 && options_.may_be_unserved && counters_.lists == 0)
		return not_served();
	const Error error = error_of(answer, options_.path);
	if (answer.status == 410) {
		expired(error.what);
		return;
	}
	const bool behind =
		answer.status == 504 && options_.backoff.failures() >= k_patience_with_lag;
	if (behind)
		version_.clear();
	failed(error.what,
		std::min<std::chrono::milliseconds>(
			answer.retry_after.value_or(0s), k_longest_watch_pause));
}

void Watch::not_served()
{
	went_well();
	synced_ = true;
	sink_.listed({});
	proceed_after(60s);
}

/* The server has discarded our version, or the next page of the list. */
void Watch::expired(const std::string &why)
{
	counters_.expired++;
	log_info("listing again: path=%s reason=%s", options_.path.c_str(), why.c_str());
	unpaged_ = version_.empty(); /* in pages the list might expire again and again */
	version_.clear();
	continue_.clear();
	live_uids_.clear();
	proceed_after(options_.backoff.next(random()));
}

} // namespace slurmkube::kube
