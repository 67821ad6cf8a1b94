/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/http/key_pair.h"

#include "src/agent/kube/files.h"
#include "src/base/owned.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <utility>

namespace slurmkube::http
{

namespace
{

using Memory = Owned<BIO, BIO_free_all>;
using Certificate = Owned<X509, X509_free>;
using Key = Owned<EVP_PKEY, EVP_PKEY_free>;

Memory memory_of(const std::string &text)
{
	return Memory(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

/* Without this OpenSSL would ask for the password at the terminal. */
int no_password(char * /*buffer*/, int /*size*/, int /*is_writing*/, void * /*data*/)
{
	return -1;
}

} // namespace

Result<KeyPair> read_key_pair(const std::string &certificate_file, const std::string &key_file)
{
	auto certificates = kube::read_small_file(certificate_file);
	if (!certificates)
		return certificates.error();
	auto key_text = kube::read_small_file(key_file);
	if (!key_text)
		return key_text.error();
	const Certificate certificate(
		PEM_read_bio_X509(memory_of(*certificates).get(), nullptr, nullptr, nullptr));
	const Key key(
		PEM_read_bio_PrivateKey(memory_of(*key_text).get(), nullptr, no_password, nullptr));
	const bool fit = certificate && key && X509_check_private_key(certificate.get(), key.get());
	ERR_clear_error();
	if (!certificate)
		return Error{Errc::invalid, "'" + certificate_file + "' has no certificate"};
	if (!key)
		return Error{Errc::invalid,
			"'" + key_file + "' has no private key, or one with a password"};
	if (!fit)
		return Error{Errc::invalid,
			"the key in '" + key_file + "' is not that of the first certificate in '" +
				certificate_file + "'"};
	return KeyPair{std::move(*certificates), std::move(*key_text)};
}

} // namespace slurmkube::http
