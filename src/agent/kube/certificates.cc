/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/kube/certificates.h"

#include "src/agent/kube/files.h"
#include "src/base/owned.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <ctime>
#include <optional>

namespace slurmkube::kube
{

namespace
{

using Memory = Owned<BIO, BIO_free_all>;
using Certificate = Owned<X509, X509_free>;

/* nullopt: the time is none that X.509 allows */
std::optional<std::int64_t> end_of(const X509 &certificate)
{
	std::tm time{};
	if (ASN1_TIME_to_tm(X509_get0_notAfter(&certificate), &time) != 1)
		return std::nullopt;
	return ::timegm(&time);
}

} // namespace

Result<std::vector<std::int64_t>> certificate_ends(const std::string &file)
{
	const auto text = read_small_file(file);
	if (!text)
		return text.error();
	const Memory memory(BIO_new_mem_buf(text->data(), static_cast<int>(text->size())));
	std::vector<std::int64_t> ends;
	while (memory) {
		const Certificate next(PEM_read_bio_X509(memory.get(), nullptr, nullptr, nullptr));
		if (!next)
			break;
		if (const auto end = end_of(*next))
			ends.push_back(*end);
	}
	ERR_clear_error(); /* the end of the file is an error for OpenSSL */
	if (ends.empty())
		return Error{Errc::invalid, "'" + file + "' has no certificate"};
	return ends;
}

} // namespace slurmkube::kube
