/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_kube.cc - what src/agent/kube decides without a server: the meaning of answers, the state of
 * a pod after a binding, tokens and YAML.
 */
#include "src/agent/kube/client.h"
#include "src/agent/kube/files.h"
#include "src/agent/kube/token.h"
#include "src/agent/kube/token_renewal.h"
#include "src/agent/kube/writes.h"
#include "src/agent/kube/yaml_text.h"
#include "src/core/model/names.h"
#include "src/manifests/rights.h"
#include "testsuite/unit/check.h"

#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>

using namespace slurmkube;
using namespace slurmkube::kube;

namespace
{

void statuses_map_by_reaction()
{
	static constexpr struct {
		long status;
		Errc errc;
	} rows[] = {
		{400, Errc::invalid},
		{401, Errc::denied},
		{403, Errc::denied},
		{404, Errc::not_found},
		{405, Errc::invalid},
		{409, Errc::conflict},
		{410, Errc::conflict},
		{413, Errc::too_large},
		{415, Errc::invalid},
		{422, Errc::invalid},
		{429, Errc::again},
		{500, Errc::io},
		{502, Errc::io},
		{503, Errc::again},
		{504, Errc::io},
		{302, Errc::invalid},
		{200, Errc::internal},
	};
	for (const auto &row : rows)
		CHECK(errc_of_status(row.status) == row.errc);
}

void errors_say_what_the_server_said()
{
	CHECK_EQUAL(error_of({404,
				     R"({"kind":"Status","reason":"NotFound",)"
				     R"("message":"pods \"x\" not found"})"})
			    .what,
		"pods \"x\" not found");
	CHECK_EQUAL(error_of({502, "<html>"}).what, "HTTP status 502");
	CHECK(error_of({500, "{\"message\":\"" + std::string(100'000, 'x') + "\"}"}).what.size() <=
		2000);
}

/* A proxy in between answers 404 for every path that it does not know. */
void only_the_api_server_says_that_an_object_is_gone()
{
	static constexpr struct {
		const char *path, *body;
		bool is_believed;
	} rows[] = {
		{"/api/v1/namespaces/a/pods/x",
			R"({"kind":"Status","apiVersion":"v1","status":"Failure",)"
			R"("reason":"NotFound","code":404})",
			true},
		{"/apis/batch/v1/namespaces/a/jobs/x", R"({"kind":"Status","reason":"NotFound"})",
			true},
		{"/api/v1/namespaces/a/pods/x", R"({"kind":"Status","reason":"Forbidden"})", false},
		{"/api/v1/namespaces/a/pods/x", R"({"reason":"NotFound"})", false},
		{"/api/v1/namespaces/a/pods/x", "404 page not found\n", false},
		{"/api/v1/nodes/x", "<html>404 Not Found</html>", false},
		{"/api/v1/nodes/x", "", false},
		{"/apis/batch/v1/namespaces/a/jobs/x", "<html>404 Not Found</html>", false},
		{"/apis/leaderworkerset.x-k8s.io/v1/namespaces/a/leaderworkersets/x",
			"404 page not found\n", true}, /* a group that this cluster does not have */
	};
	for (const auto &row : rows)
		CHECK_EQUAL(std::string(row.path) + row.body +
				(error_of({404, row.body}, row.path).code == Errc::not_found ? "y"
											     : "n"),
			std::string(row.path) + row.body + (row.is_believed ? "y" : "n"));
}

void the_manifest_of_rights_is_what_the_code_needs()
{
	const char *top = std::getenv("srcdir"); // NOLINT(concurrency-mt-unsafe): one thread
	const auto file = read_small_file(std::string(top ? top : ".") + "/etc/rbac.yaml");
	REQUIRE(file.ok());
	CHECK_EQUAL(*file == manifests::rbac_manifest()
			? ""
			: "etc/rbac.yaml is old: run contribs/generate-manifests",
		"");
	for (const manifests::NeededRight &right : manifests::needed_rights({true, true})) {
		CHECK(std::string(right.verb) != "*" && std::string(right.resource) != "*" &&
			std::string(right.group) != "*");
		CHECK(std::string(right.resource) != "secrets" && *right.why);
	}
}

void queries_are_escaped()
{
	CHECK_EQUAL(escape_query("spec.schedulerName!=a,b c/~"),
		"spec.schedulerName%21%3Da%2Cb%20c%2F~");
	CHECK_EQUAL(escape_query("\xc3\xa4"), "%C3%A4");
}

BindPod a_binding()
{
	return {.name_space = "d",
		.name = "p",
		.uid = "u",
		.node = "n1",
		.annotations = {{names::k_allocation_job_id, "7"}},
		.labels = {}};
}

core::Pod a_pod()
{
	core::Pod pod;
	pod.uid.text = "u";
	return pod;
}

core::Pod bound(const char *node, const char *job)
{
	core::Pod pod = a_pod();
	pod.node_name = node;
	pod.annotations[names::k_allocation_job_id] = job;
	return pod;
}

void a_pod_tells_the_fate_of_its_binding()
{
	CHECK(judge_binding(bound("n1", "7"), a_binding()).ok());
	CHECK_EQUAL(judge_binding(bound("n2", "7"), a_binding()).error().what,
		"it is bound to node 'n2', not to 'n1'");
	CHECK(judge_binding(bound("n2", "7"), a_binding()).error().code == Errc::conflict);
	CHECK_EQUAL(judge_binding(bound("n1", "8"), a_binding()).error().what,
		"it is bound to that node already, by job '8', not by job '7'");
	core::Pod deleting = a_pod(), gated = a_pod(), other = bound("n1", "7"),
		  leaving = bound("n1", "7");
	deleting.deleting = leaving.deleting = gated.gated = true;
	other.uid.text = "v";
	CHECK_EQUAL(judge_binding(deleting, a_binding()).error().what, "it is being deleted");
	CHECK(judge_binding(deleting, a_binding()).error().code == Errc::conflict);
	CHECK(judge_binding(leaving, a_binding()).ok());
	CHECK(judge_binding(gated, a_binding()).error().code == Errc::conflict);
	CHECK(judge_binding(other, a_binding()).error().code == Errc::not_found);
	CHECK(judge_binding(a_pod(), a_binding()).error().code == Errc::again);
}

/* {"alg":"RS256"} . {"exp":1795230537} . an invalid signature */
constexpr char k_token[] = "eyJhbGciOiJSUzI1NiJ9.eyJleHAiOjE3OTUyMzA1Mzd9.c2ln";

void the_expiry_is_read_without_the_key()
{
	const auto expiry = token_expiry(k_token);
	REQUIRE(expiry.has_value());
	CHECK_EQUAL(*expiry, 1795230537);
	for (const char *token : {"", "opaque", "a.b", "a.b.c", "..",
		     "eyJhbGciOiJSUzI1NiJ9.eyJpYXQiOjF9.c2ln", "eyJhbGciOiJSUzI1NiJ9.!!!.c2ln"})
		CHECK(!token_expiry(token).has_value());
	Token broken("two\r\nlines", "");
	CHECK_EQUAL(broken.text({}), "");
}

/* A token with these claims and no valid signature: only the server verifies signatures. */
std::string token_of(const std::string &claims)
{
	constexpr char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	std::string text = "eyJhbGciOiJSUzI1NiJ9.";
	unsigned bits = 0, count = 0;
	for (const char c : claims) {
		bits = bits << 8 | static_cast<unsigned char>(c);
		for (count += 8; count >= 6; count -= 6)
			text += digits[bits >> (count - 6) & 63];
	}
	if (count > 0)
		text += digits[bits << (6 - count) & 63];
	return text + ".c2ln";
}

void a_refused_token_says_whether_it_has_expired()
{
	const Token expired(token_of(R"({"exp":1795230537})"), ""),
		foreign(token_of(R"({"exp":1795230537,"iss":"https://other"})"), ""),
		opaque("bogus", ""), none("", "");
	CHECK_EQUAL(expired.refusal(1795230537),
		"the token expired at 2026-11-21T03:08:57Z; skube kubeconfig writes a new one");
	CHECK_EQUAL(foreign.refusal(1795230536),
		"the token is good until 2026-11-21T03:08:57Z by its own word; the API server does "
		"not know it: was it made for another "
		"cluster (its issuer is https://other), or its service account deleted?");
	CHECK_EQUAL(opaque.refusal(0),
		"the token is not one that this API server has issued, or it has been revoked");
	CHECK_EQUAL(none.refusal(0), "");
	const Response refused{
		.status = 401, .body = R"({"message":"Unauthorized"})", .note = opaque.refusal(0)};
	CHECK_EQUAL(error_of(refused).what,
		"Unauthorized: the token is not one that this API server has issued, or it has "
		"been revoked");
}

void a_token_is_renewed_in_the_last_third_of_its_life()
{
	const TokenClaims claims = token_claims(token_of(
		R"({"exp":1900,"iat":1000,"sub":"system:serviceaccount:slurm-kube:slurmkubed"})"));
	CHECK(!renewal_due(claims, 1599));
	CHECK(renewal_due(claims, 1600));
	CHECK(renewal_due(claims, 2500)); /* the server refuses it, and says why */
	CHECK(!renewal_due(token_claims("opaque"), 0));
	const auto request = renewal_request(claims);
	REQUIRE(request.ok());
	CHECK_EQUAL(
		request->path, "/api/v1/namespaces/slurm-kube/serviceaccounts/slurmkubed/token");
	CHECK(request->body.find("\"expirationSeconds\":900") != std::string::npos);
	for (const char *subject :
		{"", "alice", "system:serviceaccount:", "system:serviceaccount:a",
			"system:serviceaccount:a:", "system:serviceaccount::b"})
		CHECK(!renewal_request(
			{.expires = 1, .issued = 0, .issuer = "", .subject = subject})
				.ok());
}

void a_token_file_is_replaced_in_one_step_and_private()
{
	char directory[] = "/tmp/slurm-kube-token.XXXXXX";
	REQUIRE(mkdtemp(directory) != nullptr);
	const std::string file = std::string(directory) + "/token";
	CHECK(write_token_file(file, "one").ok());
	CHECK(write_token_file(file, "two").ok());
	CHECK_EQUAL(read_small_file(file).value(), "two\n");
	struct stat status {
	};
	CHECK_EQUAL(stat(file.c_str(), &status), 0);
	CHECK_EQUAL(status.st_mode & 0777, 0600U);
	std::size_t files = 0;
	for ([[maybe_unused]] const auto &entry : std::filesystem::directory_iterator(directory))
		files++;
	CHECK_EQUAL(files, 1U);
	std::filesystem::remove_all(directory);
	CHECK(write_token_file(file, "three")
			.error()
			.what.find("cannot write beside '" + file + "': ") == 0);
}

void yaml_knows_its_lines()
{
	const auto yaml = YamlText::parse("a: 1\nb:\n  - {c: x}\n  - c: 'null'\nd:\ne: null\n");
	REQUIRE(yaml.ok());
	const YamlNode root = yaml.value().root();
	CHECK_EQUAL(root.get("a").text(), "1");
	const auto items = root.get("b").items();
	REQUIRE(items.size() == 2);
	CHECK_EQUAL(items[1].get("c").text(), "null");
	CHECK_EQUAL(items[1].get("c").line(), 4U);
	CHECK(!root.get("d") && !root.get("e") && !root.get("f") && !root.get("a").get("x"));
}

void broken_yaml_and_aliases_are_refused()
{
	CHECK_EQUAL(YamlText::parse("a: 1\nb: [1\nc: 2\n").error().what.substr(0, 2), "3:");
	CHECK(YamlText::parse("a: &x [1]\nb: *x\n").error().what.find("2: YAML aliases") == 0);
	const auto empty = YamlText::parse("");
	CHECK(empty.ok() && !empty.value().root());
}

void names_beside_a_file()
{
	CHECK_EQUAL(beside("/a/b/config", "ca.crt"), "/a/b/ca.crt");
	CHECK_EQUAL(beside("/a/config", "/x/ca.crt"), "/x/ca.crt");
	CHECK_EQUAL(beside("config", "ca.crt"), "ca.crt");
	CHECK_EQUAL(trimmed(" \n a b\t\n"), "a b");
}

} // namespace

int main()
{
	return check::run_tests("kube",
		{
			TEST(statuses_map_by_reaction),
			TEST(errors_say_what_the_server_said),
			TEST(only_the_api_server_says_that_an_object_is_gone),
			TEST(the_manifest_of_rights_is_what_the_code_needs),
			TEST(queries_are_escaped),
			TEST(a_pod_tells_the_fate_of_its_binding),
			TEST(the_expiry_is_read_without_the_key),
			TEST(a_refused_token_says_whether_it_has_expired),
			TEST(a_token_is_renewed_in_the_last_third_of_its_life),
			TEST(a_token_file_is_replaced_in_one_step_and_private),
			TEST(yaml_knows_its_lines),
			TEST(broken_yaml_and_aliases_are_refused),
			TEST(names_beside_a_file),
		});
}
