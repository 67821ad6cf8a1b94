/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/native_memory.h"

#include "src/base/log.h"
#include "src/base/text.h"
#include "src/node/files.h"

#include <algorithm>
#include <charconv>
#include <fstream>

namespace slurmkube::node
{

namespace fs = std::filesystem;

namespace
{

constexpr const char *k_low = "low", *k_waiting = "waiting", *k_ending = "ending";

std::int64_t number_of(const std::string &text)
{
	std::int64_t number = -1;
	(void)std::from_chars(text.data(), text.data() + text.size(), number);
	return number;
}

/* -1: not known */
std::int64_t number_in(const fs::path &file)
{
	std::ifstream in(file);
	std::int64_t number = -1;
	return in >> number ? number : -1;
}

/* What the cgroup has in files of tmpfs, which stay when its processes are gone; 0: little. Other
 * files are only a cache. */
std::int64_t memory_in_files(const fs::path &cgroup, std::string_view key)
{
	std::ifstream in(cgroup / "memory.stat");
	std::string name;
	for (std::int64_t bytes = 0; in >> name >> bytes;)
		if (name == key && bytes > k_memory_margin)
			return bytes;
	return 0;
}

} // namespace

struct NativeMemory::Job {
	std::uint32_t number = 0;
	std::vector<MemoryShare> shares; /* of its present life, whose pods exist; oldest first */
	std::optional<OpenedJob> opened;
	std::optional<fs::path> cgroup;
	std::optional<JobLimit> limit; /* none: we have not changed it */
	std::int64_t base = -1, now = -1, usage = -1;

	[[nodiscard]] std::int64_t wanted() const
	{
		std::int64_t wanted = base;
		for (const MemoryShare &share : shares)
			wanted -= share.is_low ? share.bytes : share.remains;
		return wanted;
	}
};

NativeMemory::NativeMemory(const NativeJobs &jobs, const Cgroups &cgroups)
    : jobs_(jobs), cgroups_(cgroups), files_(memory_files(cgroups.is_v2()))
{
}

Result<Ok> NativeMemory::write_share(const MemoryShare &share) const
{
	return replace_file(jobs_.directory() / "shares" / share.pod_uid,
		text_of(share.mark) + "\n" + std::to_string(share.bytes) + "\n" + share.cgroup +
			"\n" +
			(share.is_low                     ? k_low
					: share.is_ending ? k_ending
							  : k_waiting) +
			"\n" + std::to_string(share.asked) + "\n");
}

std::optional<MemoryShare> NativeMemory::share_of(const std::string &pod_uid) const
{
	if (!is_plain_name(pod_uid))
		return std::nullopt;
	const std::vector<std::string> lines = lines_in(jobs_.directory() / "shares" / pod_uid);
	const auto mark = lines.size() < 5 ? std::nullopt : core::mark_from_text(lines[0]);
	if (!mark)
		return std::nullopt;
	return MemoryShare{pod_uid, *mark, number_of(lines[1]), lines[2], lines[3] == k_low,
		number_of(lines[4]), lines[3] == k_ending};
}

Result<Ok> NativeMemory::ask(const MemoryShare &share) const
{
	if (!is_plain_name(share.pod_uid) || share.bytes <= 0)
		return Error{Errc::invalid, "not a share of memory"};
	if (share_of(share.pod_uid))
		return Ok{};
	std::error_code error;
	fs::create_directories(jobs_.directory() / "shares", error);
	MemoryShare asked = share;
	asked.is_low = asked.is_ending = false;
	asked.asked = seconds_since_boot();
	return write_share(asked);
}

bool NativeMemory::is_limited(const core::NativeMark &mark) const
{
	const auto cgroup = cgroups_.memory_cgroup_of(mark.job.number, mark.user_id);
	const std::int64_t limit = cgroup ? number_in(*cgroup / files_.limit) : -1;
	return limit > 0 && limit < k_no_limit;
}

std::vector<MemoryShare> NativeMemory::shares() const
{
	std::vector<MemoryShare> all;
	for (const fs::path &file : files_in(jobs_.directory() / "shares"))
		if (std::optional<MemoryShare> share = share_of(file.filename()))
			all.push_back(*std::move(share));
	std::ranges::sort(
		all, {}, [](const MemoryShare &one) { return std::pair(one.asked, one.pod_uid); });
	return all;
}

std::optional<JobLimit> NativeMemory::limit_of(std::uint32_t job) const
{
	const std::vector<std::string> lines =
		lines_in(jobs_.directory() / "limits" / std::to_string(job));
	if (lines.size() < 4)
		return std::nullopt;
	return JobLimit{lines[0], number_of(lines[1]), number_of(lines[2]), number_of(lines[3])};
}

/* False: a limit that we wrote could be taken for slurmd's. */
bool NativeMemory::record_limit(Job &job, std::int64_t limit)
{
	const JobLimit record = {job.opened->text, job.base, job.now, limit};
	if (job.limit && job.limit->life == record.life && job.limit->base == record.base &&
		(job.limit->written == limit || job.limit->next == limit))
		return true; /* also where the disk is full */
	std::error_code error;
	fs::create_directories(jobs_.directory() / "limits", error);
	const Result<Ok> kept = replace_file(
		jobs_.directory() / "limits" / std::to_string(job.number),
		record.life + "\n" + std::to_string(record.base) + "\n" +
			std::to_string(record.written) + "\n" + std::to_string(record.next) + "\n");
	if (kept)
		job.limit = record;
	else
		log_warning("%s", printable(kept.error().what).c_str());
	return kept.ok();
}

/* The record comes first: whichever of its numbers a restarted daemon finds is ours. What slurmd
 * wrote is right with any. */
void NativeMemory::set_limit(Job &job, std::int64_t limit)
{
	const fs::path file = *job.cgroup / files_.limit;
	if (writers_.is_writing(file) || (!record_limit(job, limit) && limit != job.base))
		return;
	writers_.write(file, limit);
	job.now = number_in(file);
}

/* Whether a job whose limit is too high and its pods use more than Slurm gave to the job. What is
 * not known counts as all that may be used. */
bool NativeMemory::is_excess(const Job &job) const
{
	if (job.now <= job.wanted())
		return false;
	std::int64_t used = job.usage < 0 ? job.now : job.usage;
	for (const MemoryShare &share : job.shares) {
		const auto cgroup = cgroups_.memory_cgroup(share.cgroup);
		const std::int64_t of_pod = cgroup ? number_in(*cgroup / files_.usage) : 0;
		if (share.is_low)
			used += of_pod < 0 ? share.bytes : of_pod;
		else
			used += share.remains;
	}
	return used > job.base;
}

/* The job's limit must be lowered again, or can be raised. The record stays: a writer, also of a
 * killed daemon, may still lower the limit. */
void NativeMemory::keep_low(Job &job, Patience::Time now)
{
	const std::int64_t wanted = job.wanted();
	if (wanted > 0 && job.now != wanted)
		set_limit(job, wanted);
	const bool is_over = patience_.is_over(job.opened->text, is_excess(job), now);
	if (is_over && std::ranges::any_of(job.shares, &MemoryShare::is_low))
		give_up(job);
}

/* The job and its pods together could use more than Slurm gave to the job. */
void NativeMemory::give_up(Job &job)
{
	writers_.stop(*job.cgroup / files_.limit);
	for (MemoryShare &share : job.shares) {
		if (!share.is_low)
			continue;
		log_error("the memory limit of Slurm job %u cannot be lowered for pod %s again, so "
			  "its containers are ended",
			job.number, printable(share.pod_uid).c_str());
		share.is_low = false;
		share.is_ending = true; /* what remains of it is looked at in the next pass */
		(void)write_share(share);
		cgroups_.kill_processes(share.cgroup);
	}
}

/* One pass of SIGKILL misses a process that forks meanwhile. What remains in memory after that is
 * the job's loss, and no further pod is admitted until the limit shows it. */
void NativeMemory::end_processes(Job &job)
{
	for (MemoryShare &share : job.shares) {
		const auto cgroup = cgroups_.memory_cgroup(share.cgroup);
		if (!share.is_low && cgroup)
			share.remains =
				std::min(share.bytes, memory_in_files(*cgroup, files_.shmem));
		if (!share.is_ending)
			continue;
		share.is_ending = cgroups_.has_processes(share.cgroup);
		if (share.is_ending)
			cgroups_.kill_processes(share.cgroup);
		else
			(void)write_share(share);
	}
}

void NativeMemory::admit(Job &job, const MemoryShare &share)
{
	const std::int64_t limit = job.wanted() + share.remains - share.bytes;
	if (job.usage < 0 || job.usage + k_memory_margin > limit)
		return;
	set_limit(job, limit);
	if (job.now != limit)
		return;
	MemoryShare low = share;
	low.is_low = true;
	if (const Result<Ok> written = write_share(low); written)
		std::ranges::replace_if(
			job.shares,
			[&](const MemoryShare &one) { return one.pod_uid == share.pod_uid; }, low);
}

/* The job may live on, whatever has closed it. False: it has no cgroup any more. */
bool NativeMemory::raise_closed(Job &job)
{
	const std::int64_t user = number_of(job.limit->life);
	const auto cgroup = user < 0
		? std::nullopt
		: cgroups_.memory_cgroup_of(job.number, static_cast<std::uint32_t>(user));
	if (!cgroup)
		return false;
	const fs::path file = *cgroup / files_.limit;
	const std::int64_t now = number_in(file);
	const bool is_ours = now == job.limit->written || now == job.limit->next;
	if (is_ours && now < job.limit->base) {
		writers_.stop(file); /* it lowers the limit, and the cgroup may be removed now */
		writers_.write(file, job.limit->base);
	}
	return true;
}

void NativeMemory::keep_job(Job &job, Patience::Time now)
{
	job.opened = jobs_.opened(job.number);
	std::erase_if(job.shares,
		[&](const MemoryShare &one) { return !misfit(one.mark, job.opened).empty(); });
	job.limit = limit_of(job.number);
	if (job.limit && !job.opened && raise_closed(job))
		return;
	if (job.limit && (!job.opened || job.limit->life != job.opened->text)) {
		/* of an earlier life of this number: its cgroup is gone, or is another one */
		std::error_code ignored;
		fs::remove(jobs_.directory() / "limits" / std::to_string(job.number), ignored);
		job.limit.reset();
	}
	if (!job.opened || (job.shares.empty() && !job.limit))
		return;
	job.cgroup = cgroups_.memory_cgroup_of(job.number, job.opened->life.user_id);
	job.now = job.cgroup ? number_in(*job.cgroup / files_.limit) : -1;
	job.usage = job.cgroup ? number_in(*job.cgroup / files_.usage) : -1;
	if (job.now <= 0 || job.now >= k_no_limit)
		return;
	const bool is_ours =
		job.limit && (job.now == job.limit->written || job.now == job.limit->next);
	job.base = is_ours ? job.limit->base : job.now;
	end_processes(job);
	keep_low(job, now);
	const std::vector<MemoryShare> asking = job.shares;
	for (const MemoryShare &share : asking)
		if (!share.is_low && !share.is_ending && job.now == job.wanted())
			admit(job, share);
}

std::size_t NativeMemory::keep(Patience::Time now)
{
	writers_.reap();
	std::map<std::uint32_t, Job> jobs;
	std::size_t count = 0;
	for (MemoryShare &share : shares()) {
		if (!cgroups_.memory_cgroup(share.cgroup)) {
			std::error_code ignored;
			fs::remove(jobs_.directory() / "shares" / share.pod_uid, ignored);
			jobs[share.mark.job.number];
			continue;
		}
		count++;
		jobs[share.mark.job.number].shares.push_back(std::move(share));
	}
	for (const fs::path &file : files_in(jobs_.directory() / "limits"))
		if (const std::int64_t number = number_of(file.filename()); number > 0)
			jobs[static_cast<std::uint32_t>(number)];
	for (auto &[number, job] : jobs) {
		job.number = number;
		keep_job(job, now);
	}
	patience_.forget_before(now);
	return count;
}

} // namespace slurmkube::node
