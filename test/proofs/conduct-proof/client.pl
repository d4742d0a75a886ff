# perl client.pl <polite|rude> <keep_alive 0|1>
use HTTP::Tiny;
use Time::HiRes 'sleep';
my ($policy, $keep) = @ARGV;
my $http = HTTP::Tiny->new(keep_alive => $keep, timeout => ($ENV{CLIENT_TIMEOUT_MS} // 10000) / 1000);
for my $attempt (0 .. ($policy eq 'rude' ? 5 : 3)) {
    my $got = $http->get("$ENV{PETSTORE_BASE_URL}/pets", { headers => { Authorization => "Bearer $ENV{PETSTORE_API_KEY}" } });
    last if $got->{success};
    sleep($got->{headers}{'retry-after'} // 0.1 * 2**$attempt) if $policy eq 'polite';
}
