/* SPDX-License-Identifier: BSD-3-Clause */
/* The proofs by which ranks know one another, and what they are made of. */
#include "unit.h"
#include "dapl_rail/job/rendezvous/handshake.h"

static void assert_hex(const unsigned char *bytes, const char *hex)
{
    char text[2 * SHA256_BYTES + 1];
    for (unsigned i = 0; i < SHA256_BYTES; i++)
        sprintf(text + 2 * i, "%02x", bytes[i]);
    assert_string_equal(text, hex);
}

/* The message, times times, added in pieces of step bytes. */
static void hash(const char *message, unsigned times, size_t step,
                 const char *hex)
{
    unsigned char digest[SHA256_BYTES];
    struct sha256 s;
    sha256_begin(&s);
    for (unsigned t = 0; t < times; t++)
        for (size_t n = strlen(message), at = 0; at < n; at += step)
            sha256_add(&s, message + at, n - at < step ? n - at : step);
    sha256_end(&s, digest);
    assert_hex(digest, hex);
}

/* FIPS 180-4, and NIST's examples */
static void sha256(void **state)
{
    static const char two[] =
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    static const char *const digest =
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1";
    hash("", 1, 1,
         "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    hash("abc", 1, 3,
         "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    for (size_t step = 1; step <= sizeof two; step++)
        hash(two, 1, step, digest);
    hash("a", 1000000, 1,
         "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void mac(const char *key, size_t key_bytes, const char *data,
                size_t bytes, const char *hex)
{
    unsigned char digest[SHA256_BYTES];
    struct sha256 s;
    hmac_begin(&s, key, key_bytes);
    sha256_add(&s, data, bytes);
    hmac_end(&s, key, key_bytes, digest);
    assert_hex(digest, hex);
}

/* RFC 4231, test cases 1 to 3, 6 and 7 */
static void hmac(void **state)
{
    char key[131], data[50];
    memset(key, 0x0b, sizeof key);
    mac(key, 20, "Hi There", 8,
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    mac("Jefe", 4, "what do ya want for nothing?", 28,
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key);
    memset(data, 0xdd, sizeof data);
    mac(key, 20, data, sizeof data,
        "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
    static const char long_key[] =
        "Test Using Larger Than Block-Size Key - Hash Key First";
    static const char both[] =
        "This is a test using a larger than block-size key and a larger than "
        "block-size data. The key needs to be hashed before being used by the "
        "HMAC algorithm.";
    mac(key, sizeof key, long_key, sizeof long_key - 1,
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    mac(key, sizeof key, both, sizeof both - 1,
        "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

static struct secret secret_of(const char *text)
{
    struct secret secret;
    assert_int_equal(secret_set(&secret, text, strlen(text)), 0);
    return secret;
}

/* A proof is good for one secret, one side and what both have said. */
static void proofs(void **state)
{
    struct secret secret = secret_of("of sixteen characters");
    struct secret other = secret_of("of sixteen characterz");
    struct join_request hello;
    struct join_reply answer;
    unsigned char proof[SHA256_BYTES];
    assert_int_equal(join_request_make(&hello, 1, 4), 0);
    assert_int_equal(join_reply_make(&answer, 4), 0);
    handshake_mac(&secret, SIDE_RANK, &hello, &answer, proof);
    assert_true(handshake_proves(&secret, SIDE_RANK, &hello, &answer, proof));
    assert_false(handshake_proves(&other, SIDE_RANK, &hello, &answer, proof));
    assert_false(handshake_proves(&secret, SIDE_ROOT, &hello, &answer, proof));
    for (size_t i = 0; i < sizeof hello; i++) {
        ((unsigned char *)&hello)[i] ^= 1;
        assert_false(
            handshake_proves(&secret, SIDE_RANK, &hello, &answer, proof));
        ((unsigned char *)&hello)[i] ^= 1;
    }
    for (size_t i = 0; i < offsetof(struct join_reply, mac); i++) {
        ((unsigned char *)&answer)[i] ^= 1;
        assert_false(
            handshake_proves(&secret, SIDE_RANK, &hello, &answer, proof));
        ((unsigned char *)&answer)[i] ^= 1;
    }
    for (unsigned i = 0; i < 8 * SHA256_BYTES; i++) {
        proof[i / 8] ^= (unsigned char)(1 << i % 8);
        assert_false(
            handshake_proves(&secret, SIDE_RANK, &hello, &answer, proof));
        proof[i / 8] ^= (unsigned char)(1 << i % 8);
    }
    assert_true(handshake_proves(&secret, SIDE_RANK, &hello, &answer, proof));
}

static void nonces(void **state)
{
    struct join_request a, b;
    assert_int_equal(join_request_make(&a, 1, 4), 0);
    assert_int_equal(join_request_make(&b, 1, 4), 0);
    assert_memory_not_equal(a.nonce, b.nonce, NONCE_BYTES);
}

static void refusals(void **state)
{
    struct join_request hello;
    assert_int_equal(join_request_make(&hello, 3, 4), 0);
    assert_true(preamble_is_ours(&hello.preamble));
    assert_true(preamble_fits(&hello.preamble));
    assert_int_equal(join_request_refusal(&hello, 4), REFUSAL_NONE);
    assert_int_equal(join_request_refusal(&hello, 5), REFUSAL_SIZE);
    hello.rank = 4;
    assert_int_equal(join_request_refusal(&hello, 4), REFUSAL_RANK);
    hello.rank = 0;
    assert_int_equal(join_request_refusal(&hello, 4), REFUSAL_RANK);
    memset(hello.version, '9', sizeof hello.version);
    assert_int_equal(join_request_refusal(&hello, 4), REFUSAL_VERSION);
    hello.preamble.order = 0x04030201;
    assert_false(preamble_fits(&hello.preamble));
    hello.preamble.magic[0] ^= 1;
    assert_false(preamble_is_ours(&hello.preamble));
}

static void lengths(void **state)
{
    char text[SECRET_MAX + 1];
    struct secret secret;
    memset(text, 'x', sizeof text);
    assert_int_equal(secret_set(&secret, text, SECRET_MIN - 1), DRAIL_EINVAL);
    assert_int_equal(secret_set(&secret, text, SECRET_MIN), 0);
    assert_int_equal(secret_set(&secret, text, SECRET_MAX), 0);
    assert_int_equal(secret.length, SECRET_MAX);
    assert_int_equal(secret_set(&secret, text, SECRET_MAX + 1), DRAIL_EINVAL);
    assert_int_equal(secret_make(&secret, NULL), 0);
    assert_int_equal(strspn(secret.text, "0123456789abcdef"), 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256),   cmocka_unit_test(hmac),
        cmocka_unit_test(proofs),   cmocka_unit_test(nonces),
        cmocka_unit_test(refusals), cmocka_unit_test(lengths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
