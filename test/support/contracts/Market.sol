// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";

/// A collection whose tokens tell where their metadata are.
contract Collectible is ERC721 {
    constructor() ERC721("Collectible", "CLT") {}

    function mint(address to, uint256 id) external payable {
        _mint(to, id);
    }

    function burn(uint256 id) external {
        _burn(id);
    }

    function _baseURI() internal pure override returns (string memory) {
        return "https://tokens.test/";
    }
}

/// Many pieces of each token, singly and in batches.
contract Pieces is ERC1155 {
    constructor() ERC1155("https://pieces.test/{id}.json") {}

    function mint(address to, uint256 id, uint256 amount) external {
        _mint(to, id, amount, "");
    }

    function mintBatch(address to, uint256[] calldata ids, uint256[] calldata amounts) external {
        _mintBatch(to, ids, amounts, "");
    }
}

/// The native asset as a token, as it was first written: deposits and withdrawals emit no Transfer.
contract WrappedNative {
    string public constant name = "Wrapped Ether";
    string public constant symbol = "WETH";
    uint8 public constant decimals = 18;
    mapping(address => uint256) public balanceOf;

    event Deposit(address indexed to, uint256 amount);
    event Withdrawal(address indexed from, uint256 amount);

    function deposit() external payable {
        balanceOf[msg.sender] += msg.value;
        emit Deposit(msg.sender, msg.value);
    }

    function withdraw(uint256 amount) external {
        balanceOf[msg.sender] -= amount;
        payable(msg.sender).transfer(amount);
        emit Withdrawal(msg.sender, amount);
    }
}

/// Moves the native asset from inside, also in calls that are reverted.
contract Payer {
    receive() external payable {}

    function split(address payable one, address payable other) external payable {
        one.transfer(msg.value / 3);
        other.transfer(msg.value - msg.value / 3);
    }

    function tryToPay(address payable to) external payable {
        try this.payAndFail{value: msg.value}(to) {} catch {}
        payable(msg.sender).transfer(msg.value);
    }

    function payAndFail(address payable to) external payable {
        to.transfer(msg.value);
        revert("after all not");
    }
}
