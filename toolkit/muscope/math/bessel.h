// Bessel functions. Below 8: Chebyshev interpolation with the zeros factored out, so that the relative error stays small
// next to them; from 8 on: modulus and phase by the asymptotic form, its two series interpolated in 1/x^2.
#ifndef MUSCOPE_MATH_BESSEL_H
#define MUSCOPE_MATH_BESSEL_H

#include "exp_log.h"
#include "trig.h"

#include "begin.h"

namespace muscope_math {

/// sqrt(2/(pi x)) (p cos(x - shift) - q sin(x - shift)) and the same with sine and cosine exchanged; shift is pi/4 for
/// order 0 and 3 pi/4 for order 1; x >= 8.
struct Wave {
  double j, y;
};
MUSCOPE_MATH Wave bessel_wave(double x, double p, double q, bool order1) {
  double s, c;
  sincos(x, &s, &c);
  const double root_half = 0x1.6a09e667f3bcdp-1;
  double cosine = (s + c) * root_half, sine = (s - c) * root_half;  // of x - pi/4
  if (order1) {                                                     // of x - 3 pi/4
    const double t = cosine;
    cosine = sine;
    sine = -t;
  }
  const double r = sqrt(0x1.45f306dc9c883p-1 / x);
  return {r * fma(p, cosine, -q * sine), r * fma(p, sine, q * cosine)};
}
MUSCOPE_MATH Wave bessel_wave0(double x) {
  const double w = 1.0 / (x * x);
  const double p = polynomial(w, 0x1.p+0, -0x1.1ffffffffe5fbp-4, 0x1.cb5fffe8ced26p-4, -0x1.251ed77e459fdp-1,
        0x1.84b6e1ac85bdep+2, -0x1.b75a457f865c8p+6, 0x1.74be8a2fde700p+11, -0x1.9f8175e09f1e0p+16,
        0x1.fe16d5457b051p+21, -0x1.1d9db2333be9ep+27, 0x1.ed51b593c205cp+31, -0x1.13ad48ecc8f38p+36,
        0x1.22b44c20d0316p+39);
  const double q = polynomial(w, -0x1.ffffffffffffdp-4, 0x1.2bfffffff1ae2p-4, -0x1.d11dff99bdda2p-3, 0x1.ba4c1087d2f4fp+0,
        -0x1.8608d6e0123ddp+4, 0x1.12de5741fb7adp+9, -0x1.155e2692aee0ep+14, 0x1.5ef5a80c8308ap+19,
        -0x1.d39db8567c07ap+24, 0x1.12e9806e38a74p+30, -0x1.e8aae3a2cdcbep+34, 0x1.15e8ffa1561d5p+39,
        -0x1.28620b17b9cccp+42);
  return bessel_wave(x, p, q / x, false);
}
MUSCOPE_MATH Wave bessel_wave1(double x) {
  const double w = 1.0 / (x * x);
  const double p = polynomial(w, 0x1.p+0, 0x1.dffffffffe47ep-4, -0x1.274ffff3bd687p-3, 0x1.5a6a468cdbcffp-1,
        -0x1.b88b7980b86cfp+2, 0x1.e5a2972c2dbc8p+6, -0x1.955f98cefc9bcp+11, 0x1.bf32407aeede0p+16,
        -0x1.10cee152b48afp+22, 0x1.3074e873ea25dp+27, -0x1.066be6e626b36p+32, 0x1.24f56427a91cbp+36,
        -0x1.34b5237c76148p+39);
  const double q = polynomial(w, 0x1.7ffffffffffffp-2, -0x1.a3fffffff0e37p-4, 0x1.1c3cffca0c5fdp-2, -0x1.fe57cb8339423p+0,
        0x1.b3eca103fbb00p+4, -0x1.2d143b67f9bf6p+9, 0x1.2bc344983abe6p+14, -0x1.780a19ab1a6c9p+19,
        0x1.f27d88f5bf3fdp+24, -0x1.243a04356ccf4p+30, 0x1.034cc26d10254p+35, -0x1.26a542d5e8ca1p+39,
        0x1.3a095187deeccp+42);
  return bessel_wave(x, p, q / x, true);
}
MUSCOPE_MATH double j0(double x) {
  x = abs(x);
  if (x <= 4.0) {
    const double p = polynomial(x * x, -0x1.62214bb3c7121p-3, 0x1.b4c4fb6b81b41p-7, -0x1.a04594c03394bp-12,
          0x1.add1569228b89p-18, -0x1.17e92e43f80a0p-24, 0x1.f6e02e3875276p-32, -0x1.4aa900a6f2793p-39,
          0x1.4c371eb18219ep-47, -0x1.075ff42dc23a8p-55, 0x1.51f5c4c6c7266p-64, -0x1.662fa13d6df4ap-73,
          0x1.3ec2a80e92b9fp-82, -0x1.e0071c75711f7p-92, 0x1.17078ec29d56cp-101);
    return ((x - 0x1.33d152e971b40p+1) + 0x1.0f539d7da258ep-53) * (x + 0x1.33d152e971b40p+1) * p;
  }
  if (x <= 8.0) {
    const double t = x - 6.0;
    const double p = polynomial(t, 0x1.416dc96e57c0ep-2, -0x1.3d97028754e55p-4, -0x1.63c76276a6e68p-5, 0x1.15618767e6bcbp-7,
          0x1.bb360f4dac2d9p-10, -0x1.307fa1bf6ef62p-12, -0x1.104aed84764ecp-15, 0x1.52a757fbd7e21p-18,
          0x1.949f159a254d2p-22, -0x1.cd44e14464459p-25, -0x1.950ff5bdf577bp-29, 0x1.aab888538caf4p-32,
          0x1.2469e66e0fe85p-36, -0x1.1e6a8f03d8ea4p-39, -0x1.3f29d8485eb4bp-44, 0x1.23cdb358d9cb6p-47,
          0x1.107bff3869212p-52, -0x1.be8dc6e9a8d76p-56, -0x1.677378958bc8dp-61);
    return ((x - 0x1.6148f5b2c2e45p+2) - 0x1.75054cd60a517p-54) * p;
  }
  if (x == MUSCOPE_INF) return 0.0;
  return bessel_wave0(x).j;
}
MUSCOPE_MATH double j1(double v) {
  const double x = abs(v);
  double y;
  if (x <= 5.0) {
    const double p = polynomial(x * x, -0x1.16fb4ba6b9f63p-5, 0x1.fbdfb0a3d17bdp-10, -0x1.7cf8005bc4cd8p-15,
          0x1.43316b3af08bfp-21, -0x1.64898455a2cf2p-28, 0x1.15732c194a1a4p-35, -0x1.419b23a05a3fdp-43,
          0x1.20bae56c67196p-51, -0x1.9da1400507cdap-60, 0x1.e3f30c8d47423p-69, -0x1.d7434e5d22ab0p-78,
          0x1.83f269e0af466p-87, -0x1.115b9126c7061p-96, 0x1.49aeb3c06032fp-106, -0x1.2c6d657a5c1d5p-116);
    y = ((x - 0x1.ea75575af6f09p+1) + 0x1.60155a9d1b256p-53) * (x + 0x1.ea75575af6f09p+1) * p * x;
  } else if (x <= 8.0) {
    const double t = x - 6.5;
    const double p = polynomial(t, 0x1.318ace8aae254p-2, 0x1.d08a4092f3ab2p-6, -0x1.8bedb81f6736dp-5, -0x1.73a59e34c2ed6p-10,
          0x1.25bfadb1283aep-9, 0x1.7a11529a32d36p-16, -0x1.9cbaeed616dadp-15, -0x1.ec064dc6cd5b3p-24,
          0x1.53d2ad8d1b695p-21, -0x1.bbc8d1c39765fp-31, -0x1.70bb582bd581fp-28, 0x1.23c746562eea2p-36,
          0x1.1bfacb73f0f65p-35, -0x1.2504fbf0902b0p-43, -0x1.46bcb58d9fa96p-43, 0x1.6cb170f948c4bp-51,
          0x1.1c418f7875daep-51);
    y = ((x - 0x1.c0ff5f3b47250p+2) + 0x1.b226d9d243827p-54) * p;
  } else {
    y = x == MUSCOPE_INF ? 0.0 : bessel_wave1(x).j;
  }
  return v < 0.0 ? -y : y;
}
/// The value of y0, y1, yn outside their domain.
MUSCOPE_MATH double bessel_y_edge(double x) {
  return x == 0.0 ? -MUSCOPE_INF : x == MUSCOPE_INF ? 0.0 : MUSCOPE_NAN;
}
MUSCOPE_MATH double y0(double x) {
  if (!(x > 0.0) || x == MUSCOPE_INF) return bessel_y_edge(x);
  if (x <= 3.0) {
    const double p = polynomial(x * x, -0x1.2e4d699cbd01fp-4, 0x1.6bbcb41034286p-3, -0x1.075b1bbf41364p-6,
          0x1.1a6206b7b973cp-11, -0x1.3e99794203ba5p-17, 0x1.bce4a600d3579p-24, -0x1.a6ee796b63804p-31,
          0x1.2393d826a0f6ep-38, -0x1.31085c5e20aa0p-46, 0x1.f4ece65c005f1p-55, -0x1.4b705a44c04dbp-63,
          0x1.67bb155ae0d48p-72, -0x1.2d8a604bc5c73p-81);
    return fma(0x1.45f306dc9c883p-1 * log(x), j0(x), p);
  }
  if (x <= 5.5) {
    const double t = x - 4.25;
    const double p = polynomial(t, -0x1.880cffe3a0941p-2, 0x1.54653b59c9e5cp-4, 0x1.a57853aa7589bp-5, -0x1.2df296e9297edp-7,
          -0x1.e1a13358ce01ap-10, 0x1.20c25013ffb9dp-12, 0x1.511e31b376fa4p-15, -0x1.77ab0bb29e6b9p-18,
          -0x1.3863b39e313aap-22, 0x1.5262a00a988a9p-26, 0x1.66875e5ea4e08p-27, -0x1.035fec1be1075p-29,
          0x1.586e750afa615p-32, -0x1.3a8481cdfdc8ep-34, 0x1.1f505ddcef5b4p-36, -0x1.00fe75f9f778cp-38,
          0x1.c881233694bedp-41, -0x1.6a31645cd7635p-43, 0x1.43ce43578ca79p-45, -0x1.f0e1f8c272ce5p-47,
          0x1.bf40222a4b9dfp-49);
    return ((x - 0x1.fa9534d98569cp+1) + 0x1.f06ae7804384ep-54) * p;
  }
  if (x <= 8.0) {
    const double t = x - 6.75;
    const double p = polynomial(t, 0x1.34eee4b2f27c7p-2, 0x1.858bb5a4fa6f3p-7, -0x1.986087c7fc3b2p-5, 0x1.1bae915955d9ep-12,
          0x1.31928eb7849cdp-9, -0x1.671ee28d472b7p-15, -0x1.a6ce14e79c18ep-15, 0x1.1a6af67e04c45p-20,
          0x1.596eaa53330d7p-21, -0x1.df488f3feb2cfp-27, -0x1.6f5053347d963p-28, 0x1.d404d4240a19fp-34,
          0x1.2001537ae7077p-35, -0x1.987d4df940e14p-41, -0x1.24896a7a26fe5p-43, 0x1.d82b9fb23af3dp-51,
          0x1.c67f98f797a92p-51, -0x1.d87d97e3beb82p-55);
    return ((x - 0x1.c581dc4e72103p+2) + 0x1.9774a495f56cfp-54) * p;
  }
  return bessel_wave0(x).y;
}
MUSCOPE_MATH double y1(double x) {
  if (!(x > 0.0) || x == MUSCOPE_INF) return bessel_y_edge(x);
  if (x <= 1.5) {
    const double p = polynomial(x * x, -0x1.91866143cbc8ap-3, 0x1.bd3975c75b4a7p-5, -0x1.835b97894be5bp-9,
          0x1.2c7dbffcde979p-14, -0x1.0a780ac776c8dp-20, 0x1.32e5a4dddad7ep-27, -0x1.f0ce34c39e0cap-35,
          0x1.2a4e178be321bp-42, -0x1.1473aaaf4d2c7p-50, 0x1.972ac20814b8cp-59, -0x1.d4cf731bbe8c2p-68);
    return fma(0x1.45f306dc9c883p-1, fma(log(x), j1(x), -1.0 / x), x * p);
  }
  if (x <= 4.0) {
    const double t = x - 2.75;
    const double p = polynomial(t, 0x1.c7ac9b29f81cfp-2, -0x1.3dd347feacdd0p-3, -0x1.f3c5c509508e4p-6, 0x1.90d7fd227102cp-8,
          0x1.a07f588c91076p-9, -0x1.e6fa94d99cc3ap-11, 0x1.9bdbe7ccacfc3p-13, -0x1.48d26261c198ep-14,
          0x1.051c0feb86ffap-15, -0x1.7c62747cc1c44p-17, 0x1.14db27dfed6f4p-18, -0x1.94d7eabbe5ac4p-20,
          0x1.27a5c57940a11p-21, -0x1.af50567b09654p-23, 0x1.3a762ca01f0ffp-24, -0x1.cadbb26924887p-26,
          0x1.4e488211e7c87p-27, -0x1.e0e08c36bc872p-29, 0x1.5e2838af33deep-30, -0x1.17eabc250284ep-31,
          0x1.977e53b83dc54p-33, -0x1.2cafe54b1eaf6p-35, 0x1.b5d36ebf18ad5p-37, -0x1.779bc36bb1917p-36,
          0x1.11429d7106280p-37, 0x1.864c1eadf1e93p-39, -0x1.1be426b7af0b3p-40, -0x1.9e1e43aaa3675p-41,
          0x1.2d401999fdf64p-42);
    return ((x - 0x1.193bed4dff243p+1) + 0x1.bd1e50d219bfdp-55) * p;
  }
  if (x <= 8.0) {
    const double t = x - 6.0;
    const double p = polynomial(t, -0x1.3a3a8cefc7efcp-2, 0x1.579152b20729fp-4, 0x1.4739eeba02f89p-5, -0x1.155cf697f3ac7p-7,
          -0x1.94a78f4d6fcabp-10, 0x1.266b1555b39eep-12, 0x1.005abac2f8cf1p-15, -0x1.4c0230a6437c3p-18,
          -0x1.72fed379be61bp-22, 0x1.b0fa0e751a8f2p-25, 0x1.a874464e26d55p-29, -0x1.d368b12effd4cp-32,
          -0x1.1257e296fde9fp-37, 0x1.55e84ce1be53ap-41, 0x1.515034b253018p-42, -0x1.a35a496aef5f5p-45,
          0x1.c300df1757cbcp-48, -0x1.442a35545f779p-50, 0x1.bd718b4fa6c34p-53, -0x1.8ce1489f07907p-56,
          0x1.08f70944354fap-58, -0x1.efaeea547c64ap-60, 0x1.4b59b48aa5e7cp-62);
    return ((x - 0x1.5b7fe4e87b02ep+2) - 0x1.dfe7bac228e8cp-52) * p;
  }
  return bessel_wave1(x).y;
}
/// Order n: the recurrence upwards where it is stable (n below x), else downwards from a high order, scaled by j0 or j1.
MUSCOPE_MATH double jn(int n, double x) {
  if (n < 0) {
    n = -n;
    x = -x;
  }
  if (n == 0) return j0(x);
  if (n == 1) return j1(x);
  if (is_nan(x)) return x;
  const double a = abs(x);
  double y;
  if (a == 0.0 || a == MUSCOPE_INF) {
    y = 0.0;
  } else if ((double)n <= a) {
    double before = j0(a), now = j1(a);
    for (int k = 1; k < n; ++k) {
      const double next = (double)(2 * k) / a * now - before;
      before = now;
      now = next;
    }
    y = now;
  } else {
    const int start = n + 2 * (int)sqrt(60.0 * n) / 2 * 2 + 20;
    double after = 0.0, now = 1e-300, at_n = 0.0, at_1 = 0.0;
    for (int k = start; k > 0; --k) {
      const double before = (double)(2 * k) / a * now - after;
      after = now;
      now = before;
      if (k == n + 1) at_n = now;
      if (k == 2) at_1 = now;
      if (abs(now) > 1e200) {
        now *= 1e-250;
        after *= 1e-250;
        at_n *= 1e-250;
        at_1 *= 1e-250;
      }
    }
    const double exact0 = j0(a), exact1 = j1(a);
    y = abs(exact0) > abs(exact1) ? at_n * (exact0 / now) : at_n * (exact1 / at_1);
  }
  return (n & 1) && x < 0.0 ? -y : y;
}
MUSCOPE_MATH double yn(int n, double x) {
  const bool flip = n < 0 && (n & 1);
  if (n < 0) n = -n;
  if (!(x > 0.0) || x == MUSCOPE_INF) return bessel_y_edge(x);
  if (n == 0) return y0(x);
  double before = y0(x), now = y1(x);
  for (int k = 1; k < n && now > -MUSCOPE_INF; ++k) {
    const double next = (double)(2 * k) / x * now - before;
    before = now;
    now = next;
  }
  return flip ? -now : now;
}
MUSCOPE_MATH double cyl_bessel_i0(double x) {
  x = abs(x);
  if (x <= 8.0) return polynomial(x * x, 0x1.p+0, 0x1.p-2, 0x1.p-6, 0x1.c71c71c71c71dp-12, 0x1.c71c71c71c705p-18,
                0x1.23456789abe20p-24, 0x1.02e85c08974c5p-31, 0x1.522a43f678544p-39, 0x1.522a43f3c5cffp-47,
                0x1.0b3132ac6604fp-55, 0x1.5601859c1e784p-64, 0x1.69cac787efc6fp-73, 0x1.4195b658aa38cp-82,
                0x1.e7477a048e22cp-92, 0x1.3d45e4ad1d75dp-101, 0x1.71eed78904823p-111, 0x1.38c9bb9def199p-121,
                0x1.f2ba28a423f36p-131);
  const double w = 1.0 / x - 0.0625;
  const double p = polynomial(w, 0x1.9bd428ad249a5p-2, 0x1.b87969bb93bbbp-5, 0x1.1daa72b5e70bcp-5, 0x1.75e5ee703dcf4p-5,
        0x1.8e5139f8568cdp-4, 0x1.3f49acfec4881p-2, 0x1.7d0fbb49edc6ep+0, 0x1.51cc22adc3b2ap+3,
        0x1.72156593b3b92p+6, 0x1.03ddcc42e5eaep+9, -0x1.cc94ae6dbe8c1p+12, -0x1.ce28cd4f04d9ep+17,
        -0x1.80fb51360df0ep+20, 0x1.0823baef33ba1p+25, 0x1.131c3faafadddp+29, -0x1.0514f4714df86p+32,
        -0x1.e83a336ee24afp+36, 0x1.0c425fe6853eep+39, 0x1.66709e2f1de6fp+44, -0x1.11d420282498fp+46,
        -0x1.a732f8fd49952p+51, 0x1.cdb2c58c885a6p+52, 0x1.6d5db466faba9p+58, -0x1.0251ae550cb47p+59,
        -0x1.8fb64c52c2aabp+64, 0x1.11cf1a9200420p+64, 0x1.99840c2b2767bp+69);
  const double e = exp(0.5 * x);
  return e * (p / sqrt(x)) * e;
}
MUSCOPE_MATH double cyl_bessel_i1(double v) {
  const double x = abs(v);
  double y;
  if (x <= 8.0) {
    y = x * polynomial(x * x, 0x1.p-1, 0x1.p-4, 0x1.5555555555556p-9, 0x1.c71c71c71c70fp-15,
                0x1.6c16c16c16d20p-21, 0x1.845c8a0ce3807p-28, 0x1.27e4fb77a30bbp-35, 0x1.522a43f427f3bp-43,
                0x1.2c9758fda3036p-51, 0x1.ab81e74959342p-60, 0x1.f176cf1f1237fp-69, 0x1.e260acd0c17e6p-78,
                0x1.8be972f0e252ep-87, 0x1.159f90570389ap-96, 0x1.5ac53da80dc82p-106, 0x1.38dbeef3ff4f1p-116,
                0x1.08fbc76dd1df0p-125);
  } else {
    const double w = 1.0 / x - 0.0625;
    const double p = polynomial(w, 0x1.8ebe783a84030p-2, -0x1.3f796198ee639p-3, -0x1.cbc54df1edaa5p-5, -0x1.f89c2304d604dp-5,
          -0x1.ec8e0ff0aba3dp-4, -0x1.7613844c77ab6p-2, -0x1.ad8dff9af71c0p+0, -0x1.7277e82f93396p+3,
          -0x1.917107e7b92bbp+6, -0x1.21d8961e589b5p+9, 0x1.cb8b798693a02p+12, 0x1.e38d304e98d0ap+17,
          0x1.a8b11e3620df4p+20, -0x1.0aec33cc1a974p+25, -0x1.23aa112de2ab6p+29, 0x1.fc9369c33a266p+31,
          0x1.ff6099e632559p+36, -0x1.fa6c2762394ccp+38, -0x1.75b393ca37d99p+44, 0x1.fd5cd5e830a2fp+45,
          0x1.b8919158457f8p+51, -0x1.aca9d5e6b6995p+52, -0x1.7c46dcef479b1p+58, 0x1.e12f673b0c5edp+58,
          0x1.a01c7c9c867a8p+64, -0x1.000892f633b63p+64, -0x1.aa74a103bfb65p+69);
    const double e = exp(0.5 * x);
    y = e * (p / sqrt(x)) * e;
  }
  return v < 0.0 ? -y : y;
}
MUSCOPE_MATH float j0(float x) { return (float)j0((double)x); }
MUSCOPE_MATH float j1(float x) { return (float)j1((double)x); }
MUSCOPE_MATH float jn(int n, float x) { return (float)jn(n, (double)x); }
MUSCOPE_MATH float y0(float x) { return (float)y0((double)x); }
MUSCOPE_MATH float y1(float x) { return (float)y1((double)x); }
MUSCOPE_MATH float yn(int n, float x) { return (float)yn(n, (double)x); }
MUSCOPE_MATH float cyl_bessel_i0(float x) { return (float)cyl_bessel_i0((double)x); }
MUSCOPE_MATH float cyl_bessel_i1(float x) { return (float)cyl_bessel_i1((double)x); }

}  // namespace muscope_math

#include "end.h"

#endif
